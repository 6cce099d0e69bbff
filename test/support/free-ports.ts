// Ports for programs whose port is a setting. The system takes the ports of connections and of `listen(0)` from 32,768 on: another process
// may take one of these before the program listens on it.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

const FIRST = 20_000
const END = 32_000

/** A port of this machine on which nothing listens. */
export const freePort = async (): Promise<number> => (await freePorts(1))[0]!

/** Different ports on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Map<number, Server>()
  while (found.size < count) {
    const port = randomInt(FIRST, END)
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
      found.set(port, server)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  await Promise.all([...found.values()].map((server) => new Promise((resolve) => server.close(resolve))))
  return [...found.keys()]
}
