import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { reloadAt } from "./api/chunks";
import { connection } from "./api/connection";
import { queries } from "./api/queries";
import { askMeEarly, heedOtherTabs } from "./api/queries/session";
import { startColours } from "./colours";
import { router } from "./routes";
import "virtual:theme.css";
import "./style.css";

startColours();
reloadAt(() => {
  const { location: next } = router.state.navigation;
  return next && `${next.pathname}${next.search}${next.hash}`;
});
connection.onComeback(() => void queries.invalidateQueries());
heedOtherTabs(queries);
if (location.pathname !== "/login") askMeEarly(queries);

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
