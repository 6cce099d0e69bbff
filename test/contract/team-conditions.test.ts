// The policies of the database by themselves: the program without the conditions on the team. Each `team_id = ${tx.team}` of its sources is true of every row
// here, and what belongs to another team is still neither shown nor changed, because of the policies of the database. Once those are
// opened as well it is shown, so the conditions are really gone. The conditions by themselves: operations.test.ts.
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { describe, test } from 'node:test'

const sources = new URL('../../src/', import.meta.url).href
const condition = /(?<!\bset )(?:\b\w+\.)?\bteam_id (?:=|is not distinct from) \$\{tx\.team\}/g
let removed = 0
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.startsWith(sources) || !loaded.source) return loaded
    const source = loaded.source.toString().replaceAll(condition, () => {
      removed++
      return '(${tx.team}::uuid is not null)'
    })
    return { ...loaded, source }
  },
})

// These are not the statements of the program (test/statements/log.js).
Object.assign(globalThis, { [Symbol.for('drawbridge.logStatement')]: () => {} })

// What is imported after this has no conditions.
const { forTeams } = await import('./operations/operation-cases.ts')
const { belonging, places, send, valid, withValue } = await import('./operations/requests.ts')
const { strangers, whatBelongsToOthers } = await import('./operations/strangers.ts')
const { openPolicies } = await import('../support/policies.ts')

test('the conditions on the team are gone', () => {
  assert(removed > 120, `${removed} were found`)
})

describe('without the conditions of the statements', async () => {
  const two = await strangers()
  describe('the data of another team is not found', () => whatBelongsToOthers(two))

  test('and is shown where the policies are also opened', async () => {
    await openPolicies()
    const { owner, stranger } = two
    let shown = 0
    for (const operation of forTeams.filter(({ method }) => method === 'GET'))
      for (const place of places(operation).filter(({ part }) => part === 'path')) {
        const foreign = await belonging(owner, operation, place.name)
        const reply = await send(stranger, operation, withValue(await valid(stranger, operation), place, foreign))
        if (reply.status === 200) shown++
      }
    assert(shown > 10, `${shown} operations show what belongs to another team`)
  })
})
