import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { connection } from "./api/connection";
import { queries } from "./api/queries";
import { askMeEarly, heedOtherTabs } from "./api/queries/session";
import { beginAnewForMissingParts } from "./beginAnew";
import { startColours } from "./colours";
import { router } from "./routes";
import "virtual:theme.css";
import "./style.css";

startColours();
beginAnewForMissingParts();
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
