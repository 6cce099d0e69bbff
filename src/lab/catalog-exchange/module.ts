import type { Module } from '../../platform/module/module.ts'

export const catalogExchange: Module = {
  name: 'lab/catalog-exchange',
  about: "export and import of an operator's catalog as one file",
}
