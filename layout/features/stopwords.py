"""English stop words, lower case: the function words of the language."""

STOP_WORDS = frozenset(
    """
    a about above across after again against all almost alone along already also although always am
    among an and another any anybody anyone anything are around as at away back be became because
    become been before behind being below between both but by came can cannot could did do does
    done down during each either else enough even ever every everyone everything few for from
    further get give go had has have having he her here hers herself him himself his how however i
    if in into is it its itself just keep know last least less let like likely made make many may
    me might more most much must my myself near need never next no nobody none nor not nothing now
    of off often on once one only onto or other others our ours ourselves out over own per perhaps
    please put quite rather really said same saw say see seem seen several shall she should since
    so some somebody someone something still such take than that the their theirs them themselves
    then there therefore these they thing things this those though through thus to together too
    toward under until up upon us used very was way we well went were what when where whether which
    while who whole whom whose why will with within without would yes yet you your yours yourself
    yourselves
    """.split()
)
