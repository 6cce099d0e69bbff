import type { Module } from '../../platform/module/module.ts'

export const person: Module = {
  name: 'people/person',
  about: 'shapes of name, address, guarantor, country; no table',
}
