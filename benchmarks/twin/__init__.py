"""The same two routes as most people would write them first: FastAPI, SQLAlchemy, nobody asked who they are."""
