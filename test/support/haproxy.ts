// HAProxy as deploy/haproxy.cfg sets it up, with the addresses of a test.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './program.ts'

export const HAPROXY = '/usr/sbin/haproxy'
export const hasHaproxy = (): boolean => existsSync(HAPROXY)

/** Addresses of a section: where it listens, and its servers with the ports that it checks. */
export interface Addresses {
  port: number
  servers: { port: number; check_port: number }[]
}

/** The text of deploy/haproxy.cfg with other addresses; a section without any is left out. */
export function configureHaproxy(addresses: Partial<Record<'api' | 'database', Addresses>>): string {
  const text = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8').replaceAll(/^#.*\n/gm, '')
  const sections = text.trimEnd().split('\n\n')
  const linesOf = (title: string): string[] => {
    const section = sections.find((candidate) => candidate.startsWith(`${title}\n`))
    if (section === undefined) throw new Error(`deploy/haproxy.cfg has no section "${title}"`)
    return section.split('\n').filter((line) => !/^ +(bind|server) /.test(line))
  }
  const listeners = Object.entries(addresses).flatMap(([name, { port, servers }]) => [
    ...linesOf(`listen ${name}`),
    `  bind 127.0.0.1:${port}`,
    ...servers.map((server, i) => `  server ${name}${i + 1} 127.0.0.1:${server.port} check port ${server.check_port}`),
  ])
  return [...linesOf('defaults'), ...listeners, ''].join('\n')
}
