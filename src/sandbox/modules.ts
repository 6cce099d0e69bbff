// The modules of the sandbox, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import type { ClockNeeds } from './clock/clock.ts'
import { clock } from './clock/module.ts'
import { simulator } from './simulator/module.ts'
import { unmatchedResults } from './unmatched-results/module.ts'

export const sandbox = (needs: ClockNeeds): Module[] => [clock(needs), simulator, unmatchedResults]
