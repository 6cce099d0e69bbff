// What a phone may post of nights, workouts, the body, meals, cycles and electrocardiograms at its worst.
import { hostilePost, serveForCases } from './measured-server.ts'
import { recordBodies } from './phone-bodies.ts'

serveForCases()
for (const body of recordBodies) hostilePost(body)
