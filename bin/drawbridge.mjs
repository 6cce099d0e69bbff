#!/usr/bin/env node
// Starts the program on the Node that it is written for: this one if it is new enough, else the one that came with `npm ci`.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
// A package holds the program as JavaScript, a checkout its sources.
const main = ['../src/cli/entry.js', '../dist/src/cli/entry.js'].map(here).find((path) => existsSync(path))
// Beside the packages of a checkout, or of the folder in which the package is installed.
const bundled = ['../node_modules/.bin/node', '../../../.bin/node'].map(here).find((path) => existsSync(path))
const node = Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : bundled

if (node === undefined) {
  console.error('drawbridge requires Node 24: run "npm ci" in its directory, or start it with Node 24.')
  process.exit(1)
}
const words = process.argv.slice(2)
// Servers and workers need options of Node for their memory, so they have a process of their own; other commands run in this one.
if (node === process.execPath && !/^(start|serve|work)$/.test(words[0])) await import(pathToFileURL(main).href)
else {
  const child = spawn(node, ['--max-semi-space-size=8', '--v8-pool-size=1', main, ...words], {
    stdio: 'inherit',
    env: { MALLOC_ARENA_MAX: '1', ...process.env },
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`drawbridge: ${node} cannot be run (${error.code}).`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}
