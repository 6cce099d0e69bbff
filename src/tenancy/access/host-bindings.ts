// Host bindings: a host is bound to one cell, or to the Management API. They prevent mix-ups, such as a production key in the settings of a
// sandbox; they are not access control, because a caller may name any host. Source: management-auth.md E3.
import type { HostBindings } from '../../settings/config.ts'
import type { CellName } from '../../settings/cells.ts'
import { nameInHeader } from '../../platform/net/host-name.ts'
import { unauthorized } from '../../platform/http/errors.ts'

/**
 * 401: the request came to a bound host, and its credential belongs to another cell or API. Hosts that are not bound accept every
 * credential.
 * @param place the cell or API of the credential
 * @param extraFields further headers of the response
 */
export function assertHost(
  hosts: HostBindings,
  headers: Record<string, string | string[] | undefined>,
  place: CellName | 'management',
  extraFields: Record<string, string> = {},
): void {
  if (hosts.size === 0 || typeof headers.host !== 'string') return
  const bound = hosts.get(nameInHeader(headers.host))
  if (bound === undefined || bound === place) return
  throw unauthorized(
    place === 'management'
      ? 'This host does not accept management keys'
      : 'The credential does not belong to the environment of this host',
    extraFields,
  )
}
