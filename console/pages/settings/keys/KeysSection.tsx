import { Stack } from '@mantine/core'
import { usePermission } from '../../../session/permissions.ts'
import { ManagementKeys } from './ManagementKeys.tsx'
import { TeamKeys } from './TeamKeys.tsx'

/** The keys of the team and, for administrators of the organization, its management keys. */
export function KeysSection() {
  const canList = usePermission('list_team_api_keys')
  const canListManagement = usePermission('list_management_key')
  return (
    <Stack gap="xl">
      {canList && <TeamKeys />}
      {canListManagement && <ManagementKeys />}
    </Stack>
  )
}
