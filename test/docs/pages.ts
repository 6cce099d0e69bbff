// The code blocks of a page, and the script that runs them in order.
//
// A page is one session of a shell, as of a reader who follows it from top to bottom: what a block sets, the next one has. Blocks of
// JavaScript and TypeScript are programs that run in the same folder. Comments in front of a block say what a reader does not see:
// `<!-- not run: reason -->` for one that cannot be run here, `<!-- not run: lines with PATTERN: reason -->` for such lines of it,
// `<!-- run first: shell -->` for what a reader has already, and `<!-- drill: name -->` for one that a test in
// test/e2e runs.
import { readFileSync } from 'node:fs'

export interface Block {
  line: number
  language: string
  /** The name of a file, which stands after the language: the block is written there and not run. */
  file: string | undefined
  code: string
  /** Why it is not run. */
  reason: string | undefined
  /** Lines that are not run. */
  skippedLines: RegExp | undefined
  /** Shell that runs before it. */
  first: string | undefined
}

const SHELL = new Set(['sh', 'bash'])
const PROGRAM: Record<string, string> = { js: 'mjs', ts: 'mts' }
/** What a reader does not run. JSON is parsed. */
const DATA = new Set(['csv', 'http', 'json', 'mermaid', 'text', 'yaml'])

const OPENING = /^(?<indent> *)```(?<language>\w*) *(?<file>[\w.-]+)?$/
const COMMENT = /^ *<!-- (?<kind>not run|run first|drill): (?<text>.+) -->$/
const LINES = /^lines with (\S+): ./

/** @throws Error for a block without an end, and for a comment that stands in front of none */
export function blocksOf(path: string): Block[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  const blocks: Block[] = []
  let comments: Record<string, string> = {}
  for (let i = 0; i < lines.length; i++) {
    const comment = COMMENT.exec(lines[i]!)?.groups
    const opening = OPENING.exec(lines[i]!)?.groups
    if (comment) comments[comment.kind!] = comment.text!
    else if (opening) {
      const end = lines.findIndex((line, n) => n > i && line.trim() === '```')
      if (end < 0) throw new Error(`${path}:${i + 1}: the block does not end`)
      const without = LINES.exec(comments['not run'] ?? '')?.[1]
      const code = lines.slice(i + 1, end).map((line) => line.slice(opening.indent!.length))
      blocks.push({
        line: i + 1,
        language: opening.language!,
        file: opening.file,
        code: `${code.join('\n')}\n`,
        reason: without === undefined ? (comments['not run'] ?? comments.drill) : undefined,
        skippedLines: without === undefined ? undefined : new RegExp(without),
        first: comments['run first'],
      })
      comments = {}
      i = end
    } else if (Object.keys(comments).length && lines[i]!.trim())
      throw new Error(`${path}:${i + 1}: a comment says how a block is run, and none follows`)
  }
  return blocks
}

/** What is wrong with a block: it is not run and nobody says why. */
export function faultOf({ language, reason, code }: Block): string | undefined {
  if (language === '') return 'it has no language; "text" if it is none'
  if (DATA.has(language)) return language === 'json' && reason === undefined && !isJson(code) ? 'it is not JSON' : undefined
  if (SHELL.has(language) || PROGRAM[language] || reason !== undefined) return undefined
  return `nothing runs ${language}, and no comment gives the reason`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export const isRun = (block: Block): boolean =>
  block.reason === undefined && (SHELL.has(block.language) || PROGRAM[block.language] !== undefined)

/**
 * A request that fails ends the page with what the server answered. Functions for \`run first\` make what a reader has. \`_field\` is the
 * first text of that name in a document: Node for each would cost more than the requests.
 */
const PREAMBLE = String.raw`set -euo pipefail
curl() { command curl --fail-with-body --max-time 60 "$@"; }
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
_as() {
  local key=$1 path=$2
  shift 2
  curl -sS -H "x-service-api-key: $key" -H 'content-type: application/json' "$URL$path" "$@"
}
_field() { sed -E "s/\"$1\":\"/\n/; s/^[^\n]*\n//; s/\".*//"; }
new_user() { _as "$KEY" /v2/user -d '{ "client_user_id": "reader-'$RANDOM$RANDOM$RANDOM'" }' | _field user_id; }
new_lab_test() {
  _as "$PRODUCTION_KEY" /v3/lab_tests -d '{ "name": "Sugar", "method": "testkit", "description": "One marker.",
    "lab_slug": "manual", "provider_ids": ["MAN-A1C"] }' | _field id
}
new_pdf() {
  local id=$(_as "$KEY" /v3/order -d '{ "user_id": "'$(new_user)'",
    "lab_test_id": "'$(_as "$KEY" '/v3/lab_tests?collection_method=walk_in_test' | _field id)'",
    "patient_details": { "first_name": "Testa", "last_name": "Fictional", "dob": "1990-01-31", "gender": "female",
      "phone_number": "+15550100199", "email": "testa@example.com" },
    "patient_address": { "first_line": "1 Sample Way", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US" } }' | _field id)
  _as "$KEY" /v3/order/$id/test -X POST > /dev/null
  until [[ $(_as "$KEY" /v3/order/$id | _field 'last_event":[{][^}]*"status') = completed.* ]]; do sleep 0.2; done
  _as "$KEY" /v3/order/$id/result/pdf
}
new_org() { bin/drawbridge org create "Clinic $RANDOM" | grep -oEm1 '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'; }
new_team() { bin/drawbridge team create Reader --org $1 --region us | grep -oEm1 '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'; }
new_gpx() {
  echo '<?xml version="1.0"?><gpx version="1.1" creator="reader" xmlns="http://www.topografix.com/GPX/1/1"><trk><type>running</type><trkseg>
    <trkpt lat="33.45" lon="-112.07"><time>2026-01-31T09:30:00Z</time></trkpt>
    <trkpt lat="33.46" lon="-112.07"><time>2026-01-31T09:40:00Z</time></trkpt></trkseg></trk></gpx>'
}
`

const HEREDOC = 'END_OF_THE_BLOCK'
const write = (file: string, code: string): string => `cat > ${file} <<'${HEREDOC}'\n${code}${HEREDOC}\n`

/** `TEAM_ID` and other ids that a reader fills in are the variables of these names; a port that a reader chooses is a free one. */
const filledIn = (code: string, { url, port }: Addresses): string =>
  code
    .replaceAll(/(?<![$\w{/'"-])[A-Z][A-Z_]*_ID\b(?!=)/g, '"$$$&"')
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('localhost:3000', `localhost:${port}`)

interface Addresses {
  /** Of the server, in place of the one of `npm start`. */
  url: string
  /** A free port. */
  port: number
}

/** The script of a page. The last line of standard error that begins with `@` names the line of the block at which it ended. */
export function createScript(blocks: Block[], addresses: Addresses): string {
  const parts = blocks.map((block) => {
    const first = block.first === undefined ? '' : `${block.first}\n`
    const name = block.file ?? `block-${block.line}.${PROGRAM[block.language]}`
    if (block.file !== undefined) return `${first}${write(block.file, block.code)}`
    if (!isRun(block)) return first
    const lines = block.code.split('\n').filter((line) => !block.skippedLines?.test(line))
    const code = SHELL.has(block.language) ? filledIn(lines.join('\n'), addresses) : `${write(name, block.code)}node ${name}\n`
    return `echo @${block.line} >&2\n${first}${code}`
  })
  return PREAMBLE + parts.join('')
}
