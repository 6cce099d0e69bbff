import type { Module } from '../../platform/module/module.ts'

export const grants: Module = {
  name: 'connections/grants',
  about: "users' grants at clouds of vendors: their tokens, stored encrypted",
}
