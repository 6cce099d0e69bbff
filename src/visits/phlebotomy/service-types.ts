// Service types, and the provider names in the API. Source: lab-testing.md 2, 19.1.
import { OpenEnum } from '../../platform/schema/schema.ts'

/** `appointment-ready`: windows are offered and booked. `appointment-request`: a visit is requested, and its date is set later. */
export const serviceTypes = ['appointment-ready', 'appointment-request'] as const
export const ServiceType = OpenEnum(serviceTypes)
export type ServiceType = (typeof serviceTypes)[number]

export const providerNames = ['getlabs', 'phlebfinders'] as const
export type ProviderName = (typeof providerNames)[number]
