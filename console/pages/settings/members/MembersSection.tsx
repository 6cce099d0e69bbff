import { Stack } from '@mantine/core'
import { Invites } from './Invites.tsx'
import { Members } from './Members.tsx'

/** The people of the organization: members, and those who are invited. */
export const MembersSection = () => (
  <Stack gap="xl">
    <Members />
    <Invites />
  </Stack>
)
