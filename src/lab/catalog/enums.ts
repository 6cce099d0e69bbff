// Enumerations that several modules share. Values only. Source: lab-testing.md 2.
import { labSlugs } from '../../people/users/sources.ts'
import { OpenEnum, type Static } from '../../platform/schema/schema.ts'

/** The collection methods. */
export const collectionMethods = ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as const
export const CollectionMethod = OpenEnum(collectionMethods)
export type CollectionMethod = Static<typeof CollectionMethod>

export const sampleTypes = ['dried_blood_spot', 'arm_collector', 'serum', 'saliva', 'urine', 'stool'] as const
export const SampleType = OpenEnum(sampleTypes)
export type SampleType = Static<typeof SampleType>

export const LabSlug = OpenEnum(labSlugs)
export type LabSlug = Static<typeof LabSlug>

/** Only an active lab test can be ordered. */
const labTestStatuses = ['active', 'pending_approval', 'inactive'] as const
export const LabTestStatus = OpenEnum(labTestStatuses)
export type LabTestStatus = Static<typeof LabTestStatus>

/** `biomarker`: one measurement. `panel`: a set of measurements that a lab sells as one. */
export const markerTypes = ['biomarker', 'panel'] as const
export const MarkerType = OpenEnum(markerTypes)
export type MarkerType = Static<typeof MarkerType>

/** The payer of an order. Source: lab-testing.md 4. */
export const billingTypes = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill'] as const
export const Billing = OpenEnum(billingTypes)
export type Billing = Static<typeof Billing>
