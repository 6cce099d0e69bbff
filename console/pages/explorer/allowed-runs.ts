// Which operations the explorer runs, and why it does not run the others.
import { usePermissions, type OperationId } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import type { ApiOperation } from './operations.ts'

/** A function that says why an operation is not run here; undefined: it is. */
export function useRefusals(): (operation: ApiOperation) => string | undefined {
  const { environment } = useTeam()
  const isPermitted = usePermissions()
  return (operation) => {
    if (!isPermitted(operation.id as OperationId)) return 'Your role does not permit this operation.'
    if (operation.hasFileBody) return 'This operation takes a file: send it with curl.'
    if (operation.method === 'GET') return undefined
    if (environment === 'production') return 'In production the explorer only reads.'
    if (isOfAllEnvironments(operation)) return 'This operation changes production too: the explorer only reads with it.'
    return undefined
  }
}

/** Operations of the organization whose path names no environment. */
const isOfAllEnvironments = ({ keyKind, path }: ApiOperation): boolean =>
  keyKind === 'management' && !/\{env(ironment)?\}/.test(path)
