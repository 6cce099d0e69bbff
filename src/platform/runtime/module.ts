import type { Module } from '../module/module.ts'

export const runtime: Module = {
  name: 'platform/runtime',
  about: 'clock, ids, worker threads, loops, small caches, errors with their response; no database, no server',
}
