// What a phone may post of samples at its worst.
import { hostilePost, serveForCases } from './measured-server.ts'
import { sampleBodies } from './phone-bodies.ts'

serveForCases()
for (const body of sampleBodies) hostilePost(body)
