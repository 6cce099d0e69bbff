// The modules of people, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { insurance } from './insurance/module.ts'
import { person } from './person/module.ts'
import { physicians } from './physicians/module.ts'
import { users } from './users/module.ts'

export const people: Module[] = [person, users, insurance, physicians]
