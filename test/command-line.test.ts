// The command line: how it is spelled, and what the documents say of it.
import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { start } from './program.ts'

const OTHERS = /^(node_modules|\.git|data)(\/|$)/
const texts = globSync('**/*', { exclude: (name) => OTHERS.test(name) })
  .concat(globSync('.github/**/*'))
  .filter((file) => statSync(file).isFile() && !/\.(pdf|png|gz|zip|br|ttf|otf|woff2?)$/.test(file))

test('no text names a command that outside this folder runs the package of somebody else', () => {
  assert.ok(texts.includes('README.md') && texts.includes('docs/OPERATING.md') && texts.includes('src/cli.ts'))
  const foreign = new RegExp(['npx', 'drawbridge'].join('[ \\u00a0]+') + '\\b', 'i')
  assert.deepEqual(
    texts.filter((file) => foreign.test(readFileSync(file, 'utf8'))),
    [],
  )
})

test('the package cannot be published, and its name has a scope', () => {
  const { name, private: isPrivate } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string; private: boolean }
  assert.match(name, /^@[a-z-]+\/drawbridge$/)
  assert.equal(isPrivate, true)
})

test('bin/drawbridge runs as the documents say', async () => {
  const program = start({ program: 'bin/drawbridge', args: ['version'] })
  assert.equal(await program.ended, 0)
  assert.match(program.out(), /^\d+\.\d+\.\d+\n$/)
})
