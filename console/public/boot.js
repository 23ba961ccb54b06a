// Runs before the application, which may not load: the server stops in between, or a rolling upgrade answers with another build.
(() => {
  const KEPT = "gpuaas-boot-tries";
  const LONGEST_MS = 15_000;
  let waits = false;
  addEventListener(
    "error",
    (event) => {
      if (waits || !(event.target instanceof HTMLScriptElement)) return;
      waits = true;
      const tries = Number(sessionStorage.getItem(KEPT) ?? 0);
      sessionStorage.setItem(KEPT, String(tries + 1));
      const root = document.getElementById("root");
      if (root) root.textContent = "The server does not answer. This page loads again by itself.";
      setTimeout(again, Math.min(500 * 2 ** tries, LONGEST_MS));
    },
    true,
  );
  addEventListener("load", () => waits || sessionStorage.removeItem(KEPT));

  async function again() {
    const answer = await fetch("/build.json", { cache: "no-store" }).catch(() => null);
    if (answer?.ok) location.reload();
    else setTimeout(again, 1_000);
  }
})();
