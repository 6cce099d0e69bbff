// Links that are not live yet, and the commands that try them.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { LinkMode } from '../../src/lab/links/link-modes.ts'
import type { ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import { runOnDatabase } from './commands.ts'
import { labAccount } from './lab-accounts.ts'
import { profileWith } from './link-messages.ts'
import { cells, createTestTeam } from './server.ts'

/** `LAB_FOLDER` of the commands of the file. */
export const labFolder = mkdtempSync(join(tmpdir(), 'onboarding-'))
process.env.LAB_FOLDER = labFolder
after(() => rmSync(labFolder, { recursive: true, force: true }))

/** Runs a command on links of the sandbox. */
export const runLinks = (...words: string[]) => runOnDatabase(cells, ['links', ...words, '--cell', 'sandbox-us'])

/** A new team with a link of these transports. */
export async function linkWith(
  transport: ProfileOptions['transport'],
  { mode = 'test', profile = {} }: { mode?: LinkMode; profile?: ProfileOptions } = {},
) {
  const team = await createTestTeam()
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID().slice(0, 8)}` })
  const file = profileWith({ preset: 'us-23', ...profile, transport } as ProfileOptions)
  const path = join(labFolder, `${randomUUID()}.json`)
  writeFileSync(path, JSON.stringify(file))
  await runLinks('import', account, path)
  await runLinks('mode', account, mode)
  return { team, account }
}

/** The MLLP connection to a laboratory of this machine. */
export const clientAt = (port: number, changes = {}) => ({ host: '127.0.0.1', port, tls: false, answer_timeout_s: 2, ...changes })

/** A port of this machine on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
