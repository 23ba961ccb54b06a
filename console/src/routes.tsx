import { createBrowserRouter, type LoaderFunctionArgs, type RouteObject, redirect } from "react-router";
import { Shell } from "./frame/Shell";
import { LoginPage } from "./pages/login/LoginPage";
import { NotFoundPage } from "./pages/NotFoundPage";
import { Crash } from "./parts/Crash";

/** Every page is its own chunk, loaded when first gone to. */
const pages: RouteObject[] = [
  {
    path: "projects/:projectId",
    loader: ({ params }: LoaderFunctionArgs) => redirect(`/projects/${params.projectId}/allocations`),
  },
  {
    path: "projects/:projectId/allocations",
    lazy: async () => ({ Component: (await import("./pages/allocations/ListPage")).ListPage }),
  },
];

export const router = createBrowserRouter([
  { path: "/login", Component: LoginPage, errorElement: <Crash /> },
  {
    path: "/",
    Component: Shell,
    errorElement: <Crash />,
    children: [...pages, { path: "*", Component: NotFoundPage }],
  },
]);
