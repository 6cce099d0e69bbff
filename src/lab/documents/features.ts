import { feature } from '../../platform/http/feature-flags.ts'

export const collectionInstructions = feature('collection_instructions', 'collection instructions of a lab test as a PDF')
