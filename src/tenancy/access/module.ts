import type { Module } from '../../platform/module/module.ts'

export const access: Module = {
  name: 'tenancy/access',
  about: 'authentication: finds the tenant or the management key of a request; issues no keys',
}
