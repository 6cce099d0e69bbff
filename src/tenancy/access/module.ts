import type { Module } from '../../platform/module/module.ts'

export const access: Module = {
  name: 'tenancy/access',
  about: 'guards: from headers to a tenant or a manager; issues nothing',
}
