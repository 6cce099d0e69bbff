import type { Module } from '../../platform/module/module.ts'

export const person: Module = {
  name: 'people/person',
  about: 'schemas of name, address, guarantor, country; no table',
}
