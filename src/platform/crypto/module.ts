import type { Module } from '../module/module.ts'

export const crypto: Module = {
  name: 'platform/crypto',
  about: 'vault, encrypted columns, signed tokens, the text of keys; not the owner of a key',
}
