import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { globalSetup: './setup.mjs', testTimeout: 30_000 } })
