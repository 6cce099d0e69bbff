// The modules of connections, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { credentials } from './credentials/module.ts'
import type { CredentialNeeds } from './credentials/routes.ts'
import { pullPreferences } from './pull-preferences/module.ts'

export const connections = (needs: CredentialNeeds): Module[] => [credentials(needs), pullPreferences(needs)]
