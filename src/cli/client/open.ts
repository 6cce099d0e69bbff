// `bin/drawbridge open`: the API page of a running server in a browser.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createApiClient, request, type RemoteValues } from './api-client.ts'
import { apiPageAddress } from '../demo-file.ts'
import type { CommandContext } from '../command-tree.ts'

/** The program that opens an address, by platform. */
const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }

type Context = Pick<CommandContext, 'env' | 'printNow' | 'isTerminal'>

/**
 * Prints the address of the API page and, on a terminal, opens it in a browser. The address fills in a key of the demo data, and no other
 * key. @throws Error if the server does not answer or has no such page
 */
export async function openPage(
  values: RemoteValues & { print?: boolean },
  { env, printNow, isTerminal }: Context,
  start: (words: string[]) => Promise<boolean> = startProgram,
): Promise<void> {
  const remote = createApiClient(values, env)
  const { status } = await request(remote, 'GET', '/docs')
  if (status !== 200) throw new Error(`The server at ${remote.url} has no API page (${status}).`)
  const address = remote.isDemoKey ? apiPageAddress(remote.url, remote.key) : `${remote.url}/docs`
  printNow(`${address}\n`)
  if (!isTerminal || values.print) return
  if (!(await start([...(OPENERS[process.platform] ?? ['xdg-open']), address])))
    printNow('No browser could be started; open the address yourself.\n')
}

/** @returns whether the program has started */
async function startProgram([program, ...words]: string[]): Promise<boolean> {
  const child = spawn(program!, words, { stdio: 'ignore', detached: true })
  child.unref()
  return Promise.race([once(child, 'spawn').then(() => true), once(child, 'error').then(() => false)]).catch(() => false)
}
