import Box from "@cloudscape-design/components/box";
import { Link } from "../parts/Link";

export function NotFoundPage() {
  return (
    <Box padding="xxl" textAlign="center">
      <Box variant="h1">No such page</Box>
      <Box padding="m">The address is mistyped, or the page has moved.</Box>
      <Link to="/">Go to your machines</Link>
    </Box>
  );
}
