import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'

/** For an address that no page has, or of a team that is not the member's. */
export const NotFoundPage = () => (
  <Stack p="lg" gap="md">
    <title>Not found · Drawbridge</title>
    <Title order={1}>Not found</Title>
    <Text>No page has this address, or it belongs to a team that you are no member of.</Text>
    <Anchor component={Link} to="/">
      Go to your first team
    </Anchor>
  </Stack>
)
