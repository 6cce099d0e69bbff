import type { Module } from '../module/module.ts'

export const files: Module = {
  name: 'platform/files',
  about: "CSV, and the rejected rows of an operator's file",
}
