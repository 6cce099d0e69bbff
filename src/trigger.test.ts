// That every type that can come about has a story in `trigger`.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { stories } from './trigger.ts'
import { eventTypes } from './webhooks/catalogue.ts'

test('trigger has a story for every type that the modules emit', () => {
  const sources = globSync('src/*/**/*.ts').filter((file) => !/\.test\.ts$|^src\/webhooks\//.test(file))
  const texts = sources.map((file) => readFileSync(file, 'utf8').replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, ''))
  const emitted = eventTypes.map(({ name }) => name).filter((name) => texts.some((text) => text.includes(`'${name}'`)))
  assert(emitted.length > 0)
  assert.deepEqual(Object.keys(stories).sort(), emitted.sort())
})
