// Links of lab accounts by command: their profiles, modes and states. The operator connects laboratories, so only commands set how messages
// are transported. Nothing here prints patient data or a secret.
import { UsageError, type Call } from '../command-tree.ts'
import {
  optionalId,
  requireCell,
  requireChoice,
  requireFound,
  requireId,
  runReportingProblems,
  type Place,
} from '../command-input.ts'
import { printJson, printList, printRows } from '../command-output.ts'
import { readSmallFile } from '../file-import.ts'
import {
  findLink,
  listLinks,
  listSecretOptions,
  saveLink,
  setLinkMode,
  type AccountLink,
} from '../../lab/accounts/account-links.ts'
import { linkModes } from '../../lab/links/link-modes.ts'
import type { Difference, Options as ProfileParts } from '../../lab/links/profile/differences.ts'
import { profileDifferences, toProfileFile } from '../../lab/links/profile/read-profile.ts'
import { presetNames, presets } from '../../lab/links/profile/presets.ts'
import { OptionError, setWrittenOption } from '../../lab/links/profile/written-options.ts'
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { openVault } from '../../platform/crypto/key-file.ts'

type Options = { cell?: string; whole?: boolean; team?: string; json?: boolean }

const NO_LINK = 'The lab account has no link.'
const PROFILE_BYTES_MAX = 10_000_000

const vaultFor = ({ config: { encryption_keys, data_dir } }: Call) => openVault(encryption_keys, data_dir)

/** `links set`. */
export async function setOptions(call: Call<Options>): Promise<string> {
  const [account, ...words] = call.args as [string, ...string[]]
  const account_id = requireId(account, 'The lab account')
  const place = requireCell(call)
  const link = await findLink(place.db.queries, account_id)
  const file = (link ? await writtenProfile(call, place, link) : {}) as ProfileParts
  for (const word of words) await setTypedOption(file, word)
  return save(call, place, account_id, file)
}

/** `links import`. */
export async function importProfile(call: Call<Options>): Promise<string> {
  const account_id = requireId(call.args[0], 'The lab account')
  return save(call, requireCell(call), account_id, parseJson(await readText(call.args[1]!)))
}

/** `links export`. */
export async function exportProfile(call: Call<Options>): Promise<string> {
  const place = requireCell(call)
  return printJson(await writtenProfile(call, place, await requireLink(call, place)))
}

/** `links show`. */
export async function printLink(call: Call<Options>): Promise<string> {
  const place = requireCell(call)
  const link = await requireLink(call, place)
  const secrets = await listSecretOptions(place.db.queries, vaultFor(call), link.account_id)
  if (call.values.json) return printJson(link)
  if (call.values.whole) return printJson(link.profile)
  const state = link.state_reason ? `${link.state} since ${link.state_at}: ${link.state_reason}` : link.state
  const lines = [
    `laboratory     ${link.lab_slug}`,
    `account        ${link.account_number}`,
    `mode           ${link.mode}${link.live_team_id ? ` ${link.live_team_id}` : ''}`,
    `state          ${state}`,
    `last received  ${link.received_at ?? 'never'}`,
    `last sent      ${link.sent_at ?? 'never'}`,
    `preset         ${link.preset ?? 'none'}`,
    `secrets        ${secrets.join(', ') || 'none'}`,
  ]
  return `${lines.join('\n')}\n\n${printDifferences(profileDifferences(link))}`
}

/** `links list`. */
export async function printLinks(call: Call<Options>): Promise<string> {
  return printRows(
    call.values.json,
    await listLinks(requireCell(call).db.queries),
    ({ account_id, lab_slug, account_number, mode, state, state_reason }) =>
      `${account_id}  ${lab_slug.padEnd(13)}  ${mode.padEnd(13)}  ${state.padEnd(7)}  ${account_number}  ${state_reason ?? ''}`.trimEnd(),
    'There are none.',
  )
}

/** `links mode`. */
export async function changeMode(call: Call<Options>): Promise<string> {
  const account_id = requireId(call.args[0], 'The lab account')
  const mode = requireChoice(linkModes, call.args[1], 'The mode')
  const team_id = optionalId(call.values.team, '--team') ?? null
  await runReportingProblems(requireCell(call).db, (tx) => setLinkMode(tx, account_id, mode, team_id))
  return `The link is in mode ${mode}. Takes effect in every process within 5 s.\n`
}

/** `links presets`. */
export const printPresets = async (call: Call<Options>): Promise<string> =>
  call.values.json ? printJson(presets) : printList(presetNames, (name) => `${name.padEnd(13)}  ${presets[name].title}`)

const requireLink = async (call: Call<Options>, { db }: Place): Promise<AccountLink> =>
  requireFound(await findLink(db.queries, requireId(call.args[0], 'The lab account')), NO_LINK)

const writtenProfile = async (call: Call<Options>, { db }: Place, link: AccountLink) =>
  toProfileFile(link, await listSecretOptions(db.queries, vaultFor(call), link.account_id))

async function save(call: Call<Options>, { db }: Place, account_id: string, file: unknown): Promise<string> {
  await runReportingProblems(db, (tx) => saveLink(tx, account_id, file, vaultFor(call)))
  const link = (await findLink(db.queries, account_id))!
  return `Link saved in mode ${link.mode}. It differs from ${link.preset ? `the preset ${link.preset}` : 'the defaults'} in:\n${printDifferences(profileDifferences(link))}`
}

const printDifferences = (differences: readonly Difference[]): string =>
  printList(
    differences,
    ({ option, standard, value }) =>
      `  ${option}  ${standard === undefined ? '' : `${printValue(standard)} -> `}${printValue(value)}`,
    '  nothing',
  )

const VALUE_LENGTH_MAX = 200

function printValue(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}

/** `option=value` or `option=@file`. */
async function setTypedOption(file: ProfileParts, word: string): Promise<void> {
  const at = word.indexOf('=')
  if (at < 1) throw new UsageError(`${word} must be an option and its value, such as text.decimal_mark=.`)
  const [path, text] = [word.slice(0, at), word.slice(at + 1)]
  const isFile = text.startsWith('@')
  try {
    setWrittenOption(file, path, isFile ? (await readText(text.slice(1))).trimEnd() : text, isFile)
  } catch (error) {
    if (error instanceof OptionError) throw new UsageError(`${error.message}.`)
    throw error
  }
}

const readText = async (path: string): Promise<string> => (await readSmallFile(path, PROFILE_BYTES_MAX)).toString()

function parseJson(text: string): unknown {
  try {
    return readOutsideJson(text)
  } catch {
    throw new UsageError('The profile is not JSON.')
  }
}
