"""What happened in a project, read backwards."""

from tests.world import World


async def test_it_is_the_stream_newest_first_and_page_by_page(world: World) -> None:
    first, second = await world.allocation(), await world.allocation()
    path = f"/api/v1/projects/{world.ada.project_id}/timeline"
    everything = (await world.http.get(path, params={"limit": 200})).raise_for_status().json()["items"]
    assert {each["subject_id"] for each in everything} == {first, second}
    assert next(each["phase"] for each in everything if each["subject_id"] == second) == "active"
    pages: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await world.http.get(path, params={"limit": 2, **cursor})).raise_for_status().json()
        pages += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages == [each["id"] for each in everything]


async def test_nobody_elses_project_has_one(world: World) -> None:
    eve = await world.sign_up("eve")
    assert (await eve.http.get(f"/api/v1/projects/{world.ada.project_id}/timeline")).status_code == 404
