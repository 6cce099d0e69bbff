// The ports of a process. It imports nothing of the server, so that a taken port is reported at once.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../settings/config.ts'

/** Checks first that the server can listen on the addresses of the settings. Throws an Error with the reason. */
export async function assertPortsFree({ port, operator_port, host }: Config, roles: { serve: boolean }): Promise<void> {
  if (roles.serve) await assertPortFree('PORT', port, host)
  if (operator_port !== undefined) await assertPortFree('OPERATOR_PORT', operator_port, host)
}

async function assertPortFree(setting: 'PORT' | 'OPERATOR_PORT', port: number, host: string): Promise<void> {
  const probe = createServer().listen({ port, host })
  await once(probe, 'listening').catch((error: unknown) => {
    throw listenError(setting, port, host, error)
  })
  probe.close()
  await once(probe, 'close')
}

/** The reason why the server cannot listen on the address of the settings, as a sentence. */
export function listenError(setting: 'PORT' | 'OPERATOR_PORT', port: number, host: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} is already in use. Set ${setting} to a free port (${setting}=0 selects one).`)
  if (code === 'EACCES') return new Error(`This account may not listen on port ${port}. Set ${setting} to 1024 or more.`)
  return new Error(`HOST is ${host}, which is not an address of this machine (${code}).`)
}
