import type { Module } from '../module/module.ts'

export const schema: Module = {
  name: 'platform/schema',
  about: 'building blocks of schemas, and validation that finds every error of a value',
}
