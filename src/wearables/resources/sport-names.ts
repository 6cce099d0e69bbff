// Sports and the words of sources for them. Only values. A line has the name that is shown, of which the slug is made, and the slugs of
// other names for the same sport: of Apple Health, Health Connect, Samsung Health, the clouds, and of FIT, TCX and GPX files.
export const sportNames = `
American Football: football_american
Alpine Skiing: downhill_skiing downhill alpine_ski skiing_downhill ski_alpine alpine resort_skiing_snowboarding
Aerobics: aerobic
Australian Football: football_australian
Backcountry Skiing: backcountry_ski ski_touring touring_skiing skiing_backcountry
Baseball:
Barre: barre_workout
Boot Camp: bootcamp
Boxing: box_fitness
Breathing Exercises: guided_breathing breathing breathwork breath_training
Canoeing: canoe
Climbing: rock_climbing climb
Cricket:
Cross Country Skiing: nordic_skiing nordic_ski skiing_cross_country cross_country_ski ski_cross_country xc_skiing classic_skiing
CrossFit: cross_fit
Cross Training: crosstraining crosstrainer
Cycling: biking bike ride cycle bicycling bicycle outdoor_cycling outdoor_bike road_cycling road_biking road_ride road_bike cycling_sport
Dancing: dance
E-Biking: ebike ebike_ride ebiking e_bike e_bike_ride electric_bike e_bike_fitness ebikeride
E-Mountain Biking: e_mountain_bike_ride emountain_bike_ride e_bike_mountain emountain_biking
Elliptical: elliptical_trainer elliptical_machine
Fencing:
Flying Disc: frisbee_disc disc_sports frisbee ultimate ultimate_frisbee
Golf: golfing
Gravel Biking: gravel_ride gravel_cycling gravel
Gymnastics:
Handball:
Handcycling: hand_cycling handcycle hand_cycle
HIIT: high_intensity_interval_training high_intensity_interval interval_training hiit_workout
Hiking: hike
Hockey: field_hockey
Horse Riding: horseback_riding equestrian_sports equestrian horseriding
Ice Hockey: hockey_ice
Ice Skating: ice_skate skating_ice
Indoor Cycling: biking_stationary stationary_biking stationary_bike exercise_bike indoor_biking indoor_bike virtual_ride virtual_cycling virtual_activity_cycling spinning spin indoor_cycle cycling_stationary cycling_indoor
Indoor Rowing: rowing_machine rower virtual_row indoor_row rowing_indoor virtual_rowing
Indoor Running: treadmill running_treadmill treadmill_running virtual_run virtual_running indoor_run run_treadmill running_indoor
Indoor Walking: treadmill_walk walking_treadmill treadmill_walking indoor_walk walking_indoor
Inline Skating: inline_skate inlineskating rollerblading
Jump Rope: jumping_rope rope_jumping jumprope rope_skipping skipping
Kayaking: kayak
Kickboxing: kick_boxing
Kitesurfing: kitesurf kiteboarding
Martial Arts:
Meditation: meditate mindfulness
Mountain Biking: mountain_bike_ride mountain_bike mountain_cycling mtb mountain
Nordic Walking:
Open Water Swimming: swimming_open_water open_water_swim open_water
Other: workout other_workout exercise_type_unspecified activity generic other_exercise
Paddling: paddle_sports
Padel:
Pickleball: pickle_ball
Pilates:
Racquetball:
Rowing: row
Rugby:
Running: run jogging jog outdoor_running outdoor_run street_running street_run road_running
Sailing: sail
Scuba Diving: scuba diving_scuba
Skateboarding: skateboard
Skating: skating_sports skate
Skiing: ski
Snowboarding: snowboard
Snowshoeing: snowshoe snowshoes
Soccer: football_soccer
Softball:
Squash:
Stair Climbing: stair_climbing_machine stair_stepper stairs stairmaster step_machine stair_climber floor_climbing stair
Stand Up Paddling: stand_up_paddleboarding standup_paddling paddleboarding stand_up_paddle sup
Strength Training: traditional_strength_training functional_strength_training weight_training weighttraining weightlifting weight_lifting weights strength strength_trainer weight_machine gym functional_fitness
Stretching: stretch flexibility flexibility_training
Surfing: surf surfing_sports
Swimming: swim swimming_pool pool_swimming pool_swim lap_swimming lap_swim swimming_lap pool
Table Tennis: ping_pong tabletennis
Tai Chi: taichi
Tennis:
Track Cycling: cycling_track
Trail Running: trail_run trail run_trail running_trail
Triathlon:
Volleyball:
Walking: walk outdoor_walking outdoor_walk casual_walking
Water Polo: waterpolo
Wheelchair Pushing: wheelchair wheelchair_walk_pace wheelchair_run_pace wheelchair_push wheelchair_push_walk wheelchair_push_run
Windsurfing: windsurf
Wrestling:
Yoga:
`
