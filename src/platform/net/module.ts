import type { Module } from '../module/module.ts'

export const net: Module = {
  name: 'platform/net',
  about: 'addresses that may be called, requests to them, and trusted proxies',
}
