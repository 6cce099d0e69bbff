import type { Module } from '../../platform/module/module.ts'

export const links: Module = {
  name: 'lab/links',
  about: 'adapters to laboratories, and the neutral records that they exchange; never an order',
}
