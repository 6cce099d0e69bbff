// Connections to laboratories: to addresses that the operator allows, with TLS by the profile.
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'

export interface Destination {
  host: string
  port: number
  tls:
    | undefined
    | {
        server_name: string
        /** Certificates (PEM) that certify the laboratory; the public ones by default. */
        authorities: string | undefined
        certificate: string | undefined
        key: string | undefined
      }
}

const CONNECT_MS_MAX = 10_000
const KEEP_ALIVE_MS = 30_000

/**
 * Opens a connection. A name is resolved once, and the connection uses the addresses that were checked.
 * Errors: ForbiddenAddressError; errors of the network and of TLS.
 */
export async function connectTo({ host, port, tls }: Destination, targets: TargetPolicy, isSandbox: boolean): Promise<Socket> {
  // A connection to a literal address makes no lookup.
  await targets.addresses(host, isSandbox)
  const options = {
    host,
    port,
    lookup: targets.lookup(isSandbox),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  }
  const socket = tls
    ? connectTls({
        ...options,
        // An address is no name that a certificate is chosen by.
        servername: tls.server_name || (isIP(host) ? '' : host),
        minVersion: 'TLSv1.2',
        ...(tls.authorities && { ca: tls.authorities }),
        ...(tls.certificate && { cert: tls.certificate }),
        ...(tls.key && { key: tls.key }),
      })
    : connectPlain(options)
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(Object.assign(new Error('No connection in time'), { code: 'ETIMEDOUT' })),
      CONNECT_MS_MAX,
    )
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
  }).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  socket.on('error', () => socket.destroy())
  return socket
}
