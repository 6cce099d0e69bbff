// Addresses and ports of this machine, as settings write them: `0.0.0.0:2575`, `[::]:2575`, `tls://0.0.0.0:2576`.
import { isIP } from 'node:net'

export interface ListenAddress {
  host: string
  port: number
  isTls: boolean
}

/** The address of a text; undefined if it is none. The port 0 selects a free one. */
export function readListenAddress(text: string): ListenAddress | undefined {
  const [, scheme, six, four, port = ''] = /^(tls:\/\/)?(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = six ?? four
  if (host === undefined || Number(port) > 65_535) return undefined
  if (six === undefined ? isIP(host) !== 4 && host !== 'localhost' : isIP(host) !== 6) return undefined
  return { host, port: Number(port), isTls: scheme !== undefined }
}
