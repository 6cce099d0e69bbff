// Messages to the page that frames this one.
import { useLaunch } from '../session/session.ts'
import type { LaunchSession } from '../session/session.ts'

export type HostMessage =
  | { type: 'urn:junction:order:created'; data: { order_id: string; user_id: string; team_id: string } }
  | { type: 'urn:junction:order:creation_cancelled'; data: { user_id: string | null; team_id: string } }

/** Sends a message to the framing page; undefined if the page is not embedded. */
export function useHostPage(): ((message: HostMessage) => void) | undefined {
  const launch = useLaunch()
  if (launch?.modality !== 'feature_embed') return undefined
  return (message) => {
    const origin = findHostOrigin(launch)
    if (origin !== undefined) window.parent.postMessage(message, origin)
  }
}

/** The registered origin that frames this page. A message to an unknown one is dropped. */
function findHostOrigin({ origins }: LaunchSession): string | undefined {
  // Firefox does not list the origins.
  const ancestors = (location as { ancestorOrigins?: DOMStringList }).ancestorOrigins
  const origin = ancestors?.[0] ?? (URL.canParse(document.referrer) ? new URL(document.referrer).origin : undefined)
  return origins.find((candidate) => candidate === origin)
}
