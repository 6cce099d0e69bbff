import type { Module } from '../module/module.ts'

export const net: Module = {
  name: 'platform/net',
  about: 'which addresses may be reached, and which are trusted',
}
