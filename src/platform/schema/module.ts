import type { Module } from '../module/module.ts'

export const schema: Module = {
  name: 'platform/schema',
  about: 'building blocks of shapes, reading values with every fault found',
}
