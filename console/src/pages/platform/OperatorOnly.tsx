import Box from "@cloudscape-design/components/box";
import { Outlet } from "react-router";
import { useIsOperator } from "../../frame/project";
import { Link } from "../../parts/Link";

/** Hides nothing the server would show: it refuses these pages' questions to everybody else as well. */
export function OperatorOnly() {
  if (useIsOperator()) return <Outlet />;
  return (
    <Box padding="xxl" textAlign="center">
      <title>For operators · GPUaaS</title>
      <Box variant="h1">For operators of the platform</Box>
      <Box padding="m">
        Your account has no platform role, so the fleet is not yours to see. If it should be, ask an operator to give
        you one.
      </Box>
      <Link to="/">Go to your machines</Link>
    </Box>
  );
}
