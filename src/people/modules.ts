// The modules of people, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { insurance } from './insurance/module.ts'
import { physicians } from './physicians/module.ts'
import { users } from './users/module.ts'

export const people: Module[] = [users, insurance, physicians]
