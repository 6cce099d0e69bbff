// What the role of the signed-in member permits. The server decides; pages hide what it would refuse.
import type { operations } from '../api/schema.d.ts'
import { useSession } from './session.ts'
import { useTeam } from './team.ts'

/** The id of an operation, as in the API document. */
export type OperationId = keyof operations

/** Whether the member may call an operation: of the team in its environment, or of the organization. */
export function usePermission(operation: OperationId): boolean {
  const isPermitted = usePermissions()
  return isPermitted(operation)
}

/** A function that tells of each operation whether the member may call it. */
export function usePermissions(): (operation: OperationId) => boolean {
  const { permissions, org_permissions } = useSession()
  const { team, environment } = useTeam()
  const permitted = permissions[team.role]?.[environment] ?? []
  return (operation) => permitted.includes(operation) || org_permissions.includes(operation)
}
