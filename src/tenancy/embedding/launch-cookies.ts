// The cookies of sessions that launch URLs open: one of each modality, so that a frame and a window of the same browser do not disturb each
// other.
import type { Headers } from '../sign-in/browser-requests.ts'

/** What requests of a launched page carry: the id of its session, whose token is in a cookie. */
export const LAUNCH_HEADER = 'x-drawbridge-launch'
export const modalities = ['feature_embed', 'link_out'] as const
type Modality = (typeof modalities)[number]

/** Tokens in the format of `generateKey`: no other text is looked up. */
const SESSION_TOKEN = /^ds_[\w-]{43}$/
export const isSessionToken = (text: string): boolean => SESSION_TOKEN.test(text)

const nameOf = (modality: string): string => `drawbridge_${modality}`

/** Where the browsers of this server are. */
export interface CookiePlace {
  /** What the paths of the server begin with, without a final slash. */
  base_path: string
  isSecure: boolean
}

/** The header that sets a cookie. In a frame it is a third-party cookie: it is partitioned by the framing site, and needs TLS. */
export function launchCookie({ base_path, isSecure }: CookiePlace, modality: string, token: string, lifetime_s: number): string {
  const site = modality === 'feature_embed' ? 'SameSite=None; Secure; Partitioned' : `SameSite=Lax${isSecure ? '; Secure' : ''}`
  return `${nameOf(modality)}=${token}; Path=${base_path}/; Max-Age=${lifetime_s}; HttpOnly; ${site}`
}

/** The tokens of a browser, in the order of the modalities. */
export function readLaunchTokens({ cookie }: Headers, order: readonly Modality[] = modalities): string[] {
  if (typeof cookie !== 'string') return []
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='))
  return order.flatMap((modality) => pairs.find(([name]) => name === nameOf(modality))?.[1] ?? [])
}
