// What is made from the sources and checked in: a change of it is a change that a reader should see. UPDATE=1 writes it again.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { contents } from '../../src/app/contents.ts'
import { tree } from '../../src/cli/command-list.ts'
import { domains, type Domain } from '../support/architecture.ts'
import { lifecycles } from '../../src/lab/orders/lifecycle.ts'
import { nextStatuses, isFinal, type Lifecycle } from '../../src/lab/orders/status-machine.ts'
import { settings } from '../../src/settings/settings.ts'
import { describeApi } from '../../src/app/describe-api.ts'
import { listOperations } from '../../src/platform/http/openapi.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { version } from '../../src/app/server.ts'
import { connection } from '../support/server.ts'
import { commandPage } from '../support/command-page.ts'
import { profilePage } from '../support/profile-page.ts'
import { resourcePages } from '../support/resource-pages.ts'
import { organizationList, roleTable } from '../support/role-table.ts'
import { printSchema } from '../support/schema-print.ts'
import { families } from '../support/resource-families.ts'
import { summaryKinds } from '../../src/wearables/summaries/schema.ts'
import { timeseriesNames } from '../../src/wearables/resources/timeseries.ts'
import { writeApiTypes } from '../../console/api/generate-types.ts'
import * as prettier from 'prettier'

const { operations, eventTypes } = contents

function check(path: string, expected: string): void {
  if (process.env.UPDATE) return writeFileSync(path, expected)
  assert.equal(readFileSync(path, 'utf8'), expected, `${path} is not up to date: run the tests once with UPDATE=1`)
}

/** Replaces what stands between two marker comments of a document. */
function section(path: string, name: string, content: string): void {
  const text = readFileSync(path, 'utf8')
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  assert(text.includes(open) && text.includes(close), `${path} has no place for ${name}`)
  const before = text.slice(0, text.indexOf(open) + open.length)
  check(path, `${before}\n\n${content}\n\n${text.slice(text.indexOf(close))}`)
}

test('api/openapi.json is the description of the operations', async () => {
  check('api/openapi.json', `${JSON.stringify(await describeApi(contents, version), null, 1)}\n`)
  // They are not checked in.
  if (process.env.UPDATE) await writeApiTypes()
})

test('api/operations.txt lists the operations', () => {
  check('api/operations.txt', listOperations(operations))
})

test('api/ does not depend on the order in which modules are listed', async () => {
  const reversed = operations.toReversed()
  const text = async (list: Operation[]) => JSON.stringify(await describeApi({ operations: list, eventTypes }, version))
  assert.equal(await text(reversed), await text(operations))
  assert.equal(listOperations(reversed), listOperations(operations))
})

test('schema.sql is the schema after all migrations', async () => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const parts = [
      '-- The schema after all migrations, printed from the catalogs. Written by the tests with UPDATE=1; not to be run.',
      '-- control plane',
      await printSchema(client, 'control'),
      '-- each cell',
      await printSchema(client, 'sandbox_us'),
    ]
    check('schema.sql', `${parts.join('\n\n')}\n`)
  } finally {
    await client.end()
  }
})

test('docs/COMMANDS.md has the usage of every command', () => {
  check('docs/COMMANDS.md', commandPage(tree))
})

test('docs/reference/lab-profile.md has every option of the profile of a link', async () => {
  const path = 'docs/reference/lab-profile.md'
  check(path, await prettier.format(profilePage(), { ...(await prettier.resolveConfig(path)), filepath: path }))
})

test('docs/operating/settings.md has the list of settings', () => {
  const alike = Map.groupBy(Object.values(settings), ({ expected, default: value, default_text, meaning }) => {
    const plain = typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value ?? '')
    const standard = default_text ?? (plain && `\`${plain}\``)
    return `(${shortValue(expected)}${standard && `; default ${standard}`}): ${meaning}`
  })
  const rows = [...alike].map(([text, ones]) => `- ${ones.map(({ name }) => `\`${name}\``).join(', ')} ${text}`)
  section('docs/operating/settings.md', 'settings', rows.join('\n'))
})

test('docs/reference/roles.md has the operations of each role', () => {
  section('docs/reference/roles.md', 'roles', roleTable(operations))
  section('docs/reference/roles.md', 'organization', `${organizationList(operations)}.`)
})

/** The text of errors, shortened for a list. */
const shortValue = (expected: string): string =>
  expected
    .replace(/^a whole number from /, '')
    .replace('"on" or "off"', 'on, off')
    .replace(/^one of /, '')
    .replace(/URL that starts with http:\/\/ or https:\/\//, 'URL')
    .replace(/URL that starts with (\w+):\/\/ or (\w+):\/\//, 'URL ($1, $2)')
    .replace(/^a list of .*?, separated by commas, each (one of )?/, 'list: ')
    .replace(/^an? /, '')
    .replaceAll('<', '\\<')

test('docs/ARCHITECTURE.md has the drawing of the domains and the list of their modules', () => {
  const known: Record<string, Domain> = domains
  const reaches = (source: string, target: string): boolean =>
    known[source]!.allowedImports.some((next) => next === target || reaches(next, target))
  const arrows = Object.entries(known).flatMap(([from, { allowedImports }]) =>
    allowedImports
      .filter((target) => !allowedImports.some((step) => reaches(step, target)))
      .map((target) => `  ${from} --> ${target}`),
  )
  section('docs/ARCHITECTURE.md', 'domains', ['```mermaid', 'graph TD', ...arrows, '```'].join('\n'))
  const rows = Object.entries(known).flatMap(([domain, { about }]) => [
    `- **${domain}/**: ${about}`,
    ...contents.modules.filter(({ name }) => name.startsWith(`${domain}/`)).map(({ name, about }) => `  - ${name}/: ${about}`),
  ])
  section('docs/ARCHITECTURE.md', 'modules', rows.join('\n'))
})

test('docs/wearables has a page for each family of resources, and every resource is in one', async () => {
  assert.deepEqual(families.flatMap(({ summaries }) => summaries).toSorted(), [...summaryKinds].sort())
  assert.deepEqual(families.flatMap(({ timeseries }) => timeseries).toSorted(), [...timeseriesNames].sort())
  const pages = resourcePages(await describeApi(contents, version), eventTypes)
  const options = await prettier.resolveConfig('docs/wearables/page.md')
  for (const [path, text] of pages) check(path, await prettier.format(text, { ...options, filepath: path }))
  assert.deepEqual(readdirSync('docs/wearables').toSorted(), [...pages.keys()].map((path) => path.split('/').at(-1)!).toSorted())
  const list = families.map(({ file, title }) => `- [${title}](wearables/${file}.md)`)
  section('docs/WEARABLES.md', 'families', list.join('\n'))
})

/** The guide that lists the statuses of a lifecycle. */
const guides: Record<keyof typeof lifecycles, string> = {
  testkit: 'test-kits',
  registrable_testkit: 'test-kits',
  walk_in_test: 'walk-in',
  at_home_phlebotomy: 'at-home',
  on_site_collection: 'on-site',
}

function statusList(cycle: Lifecycle): string {
  const code = (states: readonly string[]): string => states.map((state) => `\`${state}\``).join(', ')
  const states = Object.keys(cycle.steps)
  const final = states.filter((state) => isFinal(cycle, state))
  return [
    `An order begins with \`${cycle.start}\`. No status follows ${code(final)}. The next statuses of the others:`,
    '',
    ...[
      ...Map.groupBy(
        states.filter((state) => !final.includes(state)),
        (state) => code(nextStatuses(cycle, state)),
      ),
    ].map(([next, alike]) => `- ${code(alike)}: ${next}`),
  ].join('\n')
}

test('docs/guides has the statuses of every lifecycle of an order', () => {
  for (const [name, guide] of Object.entries(guides))
    section(`docs/guides/${guide}.md`, name, statusList(lifecycles[name as keyof typeof lifecycles]))
})
